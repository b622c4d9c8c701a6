// A guard is a middleware that also says what it means for the description of every route behind it: what it refuses, which headers
// it reads and sets, which credential it asks for. `createRoute` (openapi.ts) puts that together with what a route says of itself.
import type { z, RouteConfig } from "@hono/zod-openapi";
import type { MiddlewareHandler, Env } from "hono";
import { every } from "hono/combine";
import type { RefusalCode } from "../../../core/refusals.ts";

/** What is refused: in the catalogue's own sentence, or in one that says when. */
export interface RefusalTerms {
  readonly refuses?: readonly RefusalCode[];
  readonly when?: Readonly<Partial<Record<RefusalCode, string>>>;
}

export interface GuardTerms extends RefusalTerms {
  /** Only of methods that change something. */
  readonly refusesOnChange?: readonly RefusalCode[];
  /** Headers of the request. */
  readonly requestHeaders?: z.ZodObject;
  /** Headers of an answer that succeeds. */
  readonly responseHeaders?: Readonly<Record<string, object>>;
  readonly security?: NonNullable<RouteConfig["security"]>;
}

export type Guard = MiddlewareHandler & { readonly terms?: GuardTerms };

export const defineGuard = <E extends Env>(terms: GuardTerms, handler: MiddlewareHandler<E>) => Object.assign(handler, { terms });

/** Everything that is refused and set; where two say the same, the words of the later. */
export const mergeTerms = (all: readonly GuardTerms[]) => ({
  ...(Object.assign({}, ...all) as GuardTerms),
  refuses: all.flatMap(({ refuses = [] }) => refuses),
  refusesOnChange: all.flatMap(({ refusesOnChange = [] }) => refusesOnChange),
  when: Object.assign({}, ...all.map(({ when }) => when)) as NonNullable<GuardTerms["when"]>,
  responseHeaders: Object.assign({}, ...all.map(({ responseHeaders }) => responseHeaders)) as NonNullable<GuardTerms["responseHeaders"]>,
});

/** One guard of several, in their order. `E` is the context that they make together. */
export const combineGuards = <E extends Env>(...guards: readonly Guard[]) =>
  defineGuard<E>(mergeTerms(guards.map(({ terms = {} }) => terms)), every(...guards));
