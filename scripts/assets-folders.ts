// The folders for the built static assets. Each deployment has its own folder, so that building its assets does not change what a running
// local service serves.

export const localAssetsDir = "dist/assets";
export const deploymentAssetsDir = "dist/deployment";
