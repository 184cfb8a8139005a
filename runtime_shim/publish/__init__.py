"""What a workflow leaves in its repository: a comment or a pull request, free of anything that GitHub would act on."""
