// Defines guards. A guard is middleware that also adds its refusals, headers and security scheme to the OpenAPI document.
// `createRouteFactory` in openapi.ts merges them into each route's description.
import type { z, RouteConfig } from "@hono/zod-openapi";
import type { MiddlewareHandler, Env } from "hono";
import { every } from "hono/combine";
import type { RefusalCode } from "../../../core/refusals.ts";

/** Refusals with their default message (`refuses`) or with a description of when they occur (`when`). */
export interface RefusalTerms {
  readonly refuses?: readonly RefusalCode[];
  readonly when?: Readonly<Partial<Record<RefusalCode, string>>>;
}

export interface GuardTerms extends RefusalTerms {
  /** Refusals that apply to all methods except GET. */
  readonly refusesOnChange?: readonly RefusalCode[];
  /** Request headers. */
  readonly requestHeaders?: z.ZodObject;
  /** Headers of 2xx responses. */
  readonly responseHeaders?: Readonly<Record<string, object>>;
  readonly security?: NonNullable<RouteConfig["security"]>;
}

export type Guard = MiddlewareHandler & { readonly terms?: GuardTerms };

export const defineGuard = <E extends Env>(terms: GuardTerms, handler: MiddlewareHandler<E>) => Object.assign(handler, { terms });

/** Merges the refusals and headers of several guards. If a code or header occurs more than once, the last one is used. */
export const mergeTerms = (all: readonly GuardTerms[]) => ({
  ...(Object.assign({}, ...all) as GuardTerms),
  refuses: all.flatMap(({ refuses = [] }) => refuses),
  refusesOnChange: all.flatMap(({ refusesOnChange = [] }) => refusesOnChange),
  when: Object.assign({}, ...all.map(({ when }) => when)) as NonNullable<GuardTerms["when"]>,
  responseHeaders: Object.assign({}, ...all.map(({ responseHeaders }) => responseHeaders)) as NonNullable<GuardTerms["responseHeaders"]>,
});

/** Combines guards into one that runs them in order. `E` is the context type that they produce together. */
export const combineGuards = <E extends Env>(...guards: readonly Guard[]) =>
  defineGuard<E>(mergeTerms(guards.map(({ terms = {} }) => terms)), every(...guards));
