// The folders for the built static assets. Deployments have a separate folder, so that building their assets does not change what a running
// local service serves.

export const localAssetsDir = "dist/assets";
export const deploymentAssetsDir = "dist/deployment";
