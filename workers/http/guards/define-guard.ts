// Guards: middleware that also declares its refusals, headers and credentials. `createRouteFactory` in openapi.ts adds these to the OpenAPI
// description of each route with the guard.
import type { z, RouteConfig } from "@hono/zod-openapi";
import type { MiddlewareHandler, Env } from "hono";
import { every } from "hono/combine";
import type { RefusalCode } from "../../../core/refusals.ts";

/**
 * Refusals of a route or guard. `refuses` lists codes that use their default message. `when` describes when the route or guard returns a
 * code.
 */
export interface RefusalTerms {
  readonly refuses?: readonly RefusalCode[];
  readonly when?: Readonly<Partial<Record<RefusalCode, string>>>;
}

export interface GuardTerms extends RefusalTerms {
  /** Refusals for every method except GET. */
  readonly refusesOnChange?: readonly RefusalCode[];
  readonly requestHeaders?: z.ZodObject;
  /** Headers of 2xx responses. */
  readonly responseHeaders?: Readonly<Record<string, object>>;
  readonly security?: NonNullable<RouteConfig["security"]>;
}

export type Guard = MiddlewareHandler & { readonly terms?: GuardTerms };

export const defineGuard = <E extends Env>(terms: GuardTerms, handler: MiddlewareHandler<E>) => Object.assign(handler, { terms });

/** Merges the declarations of several guards. If several guards describe the same code or header, the last description wins. */
export const mergeTerms = (all: readonly GuardTerms[]) => ({
  ...(Object.assign({}, ...all) as GuardTerms),
  refuses: all.flatMap(({ refuses = [] }) => refuses),
  refusesOnChange: all.flatMap(({ refusesOnChange = [] }) => refusesOnChange),
  when: Object.assign({}, ...all.map(({ when }) => when)) as NonNullable<GuardTerms["when"]>,
  responseHeaders: Object.assign({}, ...all.map(({ responseHeaders }) => responseHeaders)) as NonNullable<GuardTerms["responseHeaders"]>,
});

/** Combines guards into one that runs them in order. `E` is the context type after the last guard. */
export const combineGuards = <E extends Env>(...guards: readonly Guard[]) =>
  defineGuard<E>(mergeTerms(guards.map(({ terms = {} }) => terms)), every(...guards));
