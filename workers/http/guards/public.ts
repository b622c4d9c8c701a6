import type { AppEnv } from "../context.ts";
import { defineGuard, combineGuards, type Guard } from "./define-guard.ts";

const declareStorage = defineGuard<AppEnv>({ refuses: ["storage_unavailable"] }, (_c, next) => next());

/** What stands before a route that asks for no credential. What it answers is stored, and storage may be away. */
export const publicGuard = (...guards: readonly Guard[]) => combineGuards<AppEnv>(declareStorage, ...guards);
