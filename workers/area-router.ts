// One router for each area of paths (`/v1/certs`, `/v1/webhooks`), so that a fixed word beside a parameter in one of them
// (`/v1/webhooks/deliveries/…` beside `/v1/webhooks/{id}/…`), which hono's one-expression router cannot take, costs the
// others nothing: only that area falls back to the slower walk along the path.
import type { Result, Router } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";

type Route<T> = readonly [method: string, path: string, handler: T];

/** The first two segments: `/v1/certs` of `/v1/certs/{cert_id}/verify`. */
const areaOf = (path: string): string => {
  const second = path.indexOf("/", 1);
  const third = second < 0 ? -1 : path.indexOf("/", second + 1);
  return third < 0 ? path : path.slice(0, third);
};

const isOpen = (area: string): boolean => /[:*]/.test(area);

export class AreaRouter<T> implements Router<T> {
  readonly name = "AreaRouter";
  readonly #routes: Route<T>[] = [];
  readonly #routers = new Map<string, Router<T>>();

  add(method: string, path: string, handler: T): void {
    this.#routes.push([method, path, handler]);
    this.#routers.clear();
  }

  match(method: string, path: string): Result<T> {
    const area = areaOf(path);
    return (this.#routers.get(area) ?? this.#routerOf(area)).match(method, path);
  }

  /** Kept for the areas that routes name, and one for all others: the paths that are asked for have no end. */
  #routerOf(area: string): Router<T> {
    const isNamed = this.#routes.some(([, path]) => areaOf(path) === area);
    const name = isNamed ? area : "";
    const known = this.#routers.get(name);
    if (known !== undefined) return known;
    const router = new SmartRouter<T>({ routers: [new RegExpRouter<T>(), new TrieRouter<T>()] });
    for (const [method, path, handler] of this.#routes) {
      const own = areaOf(path);
      if (own === area || isOpen(own)) router.add(method, path, handler);
    }
    this.#routers.set(name, router);
    return router;
  }
}
