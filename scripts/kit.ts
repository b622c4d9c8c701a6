// `npm run kit`: builds the npm package with the `svc` and `svc-verify` commands and the typed client into dist/npm.
import { buildKit } from "../kit/build.ts";

await buildKit("dist/npm");
console.log("Wrote dist/npm. Install it from there, or run: npm pack ./dist/npm");
