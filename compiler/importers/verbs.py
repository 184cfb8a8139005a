"""The verbs that start an instruction."""

_WORDS = """
access acknowledge activate add adjust allow analyze annotate answer append apply approve archive ask
assign attach audit authenticate avoid await back backup batch block bootstrap bring browse build bump call cancel
capture change check checkout choose classify clean clear click clone close collect commit compare compile complete
compose compute configure confirm connect consider consult contact continue convert copy cordon correlate count create
crop cut decide decommission decrease decrypt deduplicate define delegate delete demote deploy derive describe design
destroy detach detect determine diagnose disable disconnect discover dispatch display do document download draft drain
drop dump edit embed enable encode encrypt engage ensure enter escalate establish estimate evaluate examine execute
expand explain export extend extract fail fetch fill filter finalize find finish fix flag flash flush focus follow
force fork format free gather generate get give go grant grep group handle highlight identify implement import
increase infer inform initialize inject insert inspect install investigate invite invoke isolate issue iterate join
keep kill label launch leave let limit link lint list load locate lock log login look loop lower make mark measure
mention merge migrate mirror mock modify monitor mount move name navigate normalize notify observe obtain offer
omit open organize outline override page parse paste patch pause perform persist pick pin ping place plan point
populate post prefer prepare present preserve press prevent print prioritize probe proceed produce promote prompt
propose provide provision prune publish pull purge push put query quit raise rank rate reach read rebase reboot rebuild
recommend reconcile reconnect record recover recreate redeploy redirect redo reduce refactor refer refine refresh
register reinstall reject release reload remove rename render renew repair repeat replace replay reply report
reproduce request rerun resend reset resize resolve respond restart restore resume retrieve retry return reuse revert
review revoke roll rollback rotate route run sanitize save scaffold scale scan schedule scope score search secure see
seed select send separate set ship show shut sign silence simplify simulate sketch skip snapshot spawn specify spin
split ssh stage start state stop store strip stub study submit subscribe suggest summarize supply surface suspend
swap switch sync synthesize tag tail take talk tear tell terminate test tick tidy toggle trace track transfer trigger
trim troubleshoot try tune turn tweak type undo uninstall unlock unmount unset untar untick update upgrade upload use
validate verify view visit vote wait warm warn watch wire work wrap write
"""
VERBS = frozenset(_WORDS.split())
