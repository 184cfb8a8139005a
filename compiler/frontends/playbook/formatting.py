from compiler.frontends.base import Formatted, Job
def format_document(job: Job) -> Formatted:
    return Formatted(job.source.text)
