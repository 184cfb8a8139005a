"""Publishing a run's output as a comment or a pull request, without anything that GitHub would act on."""
