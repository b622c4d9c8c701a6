// A guard is a middleware that also says what it means for the description of every route behind it: what it refuses, which headers
// it reads and sets, which credential it asks for. `createRoute` (openapi.ts) puts that together with what a route says of itself.
import type { RouteConfig, z } from "@hono/zod-openapi";
import type { Env, MiddlewareHandler } from "hono";
import { every } from "hono/combine";
import type { RefusalCode } from "../../core/refusals.ts";

/** What is refused: in the catalogue's own sentence, or in one that says when. */
export interface Refusing {
  readonly refuses?: readonly RefusalCode[];
  readonly when?: Readonly<Partial<Record<RefusalCode, string>>>;
}

export interface Terms extends Refusing {
  /** Only of methods that change something. */
  readonly refusesChanges?: readonly RefusalCode[];
  /** Headers of the request. */
  readonly takes?: z.ZodObject;
  /** Headers of an answer that succeeds. */
  readonly sets?: Readonly<Record<string, object>>;
  readonly security?: NonNullable<RouteConfig["security"]>;
}

export type Guard = MiddlewareHandler & { readonly terms?: Terms };

export const guard = <E extends Env>(terms: Terms, handler: MiddlewareHandler<E>) => Object.assign(handler, { terms });

/** Everything that is refused and set; where two say the same, the words of the later. */
export const together = (all: readonly Terms[]) => ({
  ...(Object.assign({}, ...all) as Terms),
  refuses: all.flatMap(({ refuses = [] }) => refuses),
  refusesChanges: all.flatMap(({ refusesChanges = [] }) => refusesChanges),
  when: Object.assign({}, ...all.map(({ when }) => when)) as NonNullable<Terms["when"]>,
  sets: Object.assign({}, ...all.map(({ sets }) => sets)) as NonNullable<Terms["sets"]>,
});

/** One guard of several, in their order. `E` is the context that they make together. */
export const inTurn = <E extends Env>(...guards: readonly Guard[]) =>
  guard<E>(together(guards.map(({ terms = {} }) => terms)), every(...guards));
