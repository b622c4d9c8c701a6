// `npm run kit`: writes dist/npm, the package that developers install: the command `svc` and the typed client.
import { buildKit } from "../kit/build.ts";

await buildKit("dist/npm");
console.log("dist/npm is written. Install it from there, or: npm pack ./dist/npm");
