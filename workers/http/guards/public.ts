// Guard for routes without a credential.
import type { AppEnv } from "../context.ts";
import { defineGuard, combineGuards, type Guard } from "./define-guard.ts";

const declareStorage = defineGuard<AppEnv>({ refuses: ["storage_unavailable"] }, (_c, next) => next());

/** Declares that the route can return `storage_unavailable`, and runs the guards. */
export const publicGuard = (...guards: readonly Guard[]) => combineGuards<AppEnv>(declareStorage, ...guards);
