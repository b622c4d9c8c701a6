// The folders of the built static assets. A deployment has its own folder, because building its assets must not change what a running local
// service serves.

export const localAssetsDir = "dist/assets";
export const deploymentAssetsDir = "dist/deployment";
