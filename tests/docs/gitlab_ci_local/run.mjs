// Runs gitlab-ci-local, whose bundle needs a method that Node 20 doesn't have.
Set.prototype.union ??= function (other) {
  return new Set([...this, ...other]);
};
await import("gitlab-ci-local/dist/index.js");
