// Lets a script run the service with wrapped bindings. The Worker and its Durable Objects run in one isolate, so a script can count or
// change the calls of all of them.
import type { Env } from "../workers/env.ts";

/**
 * Returns a function that wraps bindings. The function returns the same object for the same bindings, because the service creates one
 * platform for each `env` object.
 */
export const createBindingWrapper = (wrap: (env: Env) => Env): ((env: Env) => Env) => {
  const wrapped = new WeakMap<object, Env>();
  return (env) => {
    const known = wrapped.get(env) ?? wrap(env);
    wrapped.set(env, known);
    return known;
  };
};

type DurableObjectClass = new (ctx: DurableObjectState, env: never) => object;

/** Returns a Durable Object class that gets wrapped bindings. */
export const wrapClass = <Class extends DurableObjectClass>(original: Class, wrap: (env: Env) => Env): Class =>
  new Proxy(original, {
    construct: (target, [ctx, env], newTarget) => Reflect.construct(target, [ctx, wrap(env as Env)], newTarget) as object,
  });
