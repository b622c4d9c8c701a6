// What an operation may use, put together once per isolate and handed down: operations never see a binding.
import type { Limit, WindowState } from "../core/access/window.ts";
import type { ToE164 } from "../core/certificates/matching.ts";
import type { RandomBytes } from "../core/ids.ts";
import type { Clock } from "../core/time.ts";
import { homesOf, type Homes } from "../storage/homes.ts";
import { RememberedClients } from "../storage/remembered-clients.ts";
import { openSigner, type Signer } from "../storage/signer.ts";
import { openVault, type Vault } from "../storage/vault.ts";
import { AddressWindows } from "./adapters/address-windows.ts";
import { e164 } from "./adapters/phone.ts";
import { readConfig, type Config, type Env } from "./env.ts";
import type { LimitName } from "./limits.ts";
import { consoleLog, type Log } from "./log.ts";

/** Per isolate: nothing here belongs to a request. */
export interface Platform {
  readonly config: Config;
  readonly homes: Homes;
  readonly kv: KVNamespace;
  readonly vault: Vault;
  readonly signer: Signer;
  readonly rememberedClients: RememberedClients;
  readonly toE164: ToE164;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
  /** Counts a call against a limit kept in this isolate, behind the platform's shield. */
  readonly takeByAddress: (name: LimitName, key: string) => Promise<WindowState>;
  /** Counts a call against an exact limit kept in an object. */
  readonly takeExactly: (name: LimitName, key: string) => Promise<WindowState>;
}

/** Per request. */
export interface Services extends Platform {
  /** Runs after the answer; an accelerator only, since the process may die first. What must happen is in an outbox. */
  readonly afterAnswer: (work: () => Promise<void>) => void;
}

const exactly = (env: Env, limit: Limit, name: string, key: string, now: number): Promise<WindowState> => {
  const object = env.RATE_LIMITER.getByName(`${name}:${key}`);
  return object.take({ count: limit.count, seconds: limit.seconds }, now);
};

export const openPlatform = async (env: Env): Promise<Platform> => {
  const config = readConfig(env);
  const windows = new AddressWindows();
  const clock: Clock = () => Date.now() + config.clockOffsetMs;
  return {
    config,
    homes: homesOf(env),
    kv: env.KV,
    vault: await openVault(config),
    signer: await openSigner(config.issuerSeed, config.retiredIssuerKeys),
    rememberedClients: new RememberedClients(),
    toE164: e164,
    clock,
    random: (count) => crypto.getRandomValues(new Uint8Array(count)),
    log: consoleLog,
    takeByAddress: async (name, key) => {
      const state = windows.take(`${name}:${key}`, config.limits[name], clock());
      if (!state.allowed || !config.shielded || env.SHIELD === undefined) return state;
      const { success } = await env.SHIELD.limit({ key: `${name}:${key}` });
      return success ? state : { allowed: false, remaining: 0, resetMs: 60_000 };
    },
    takeExactly: (name, key) => exactly(env, config.limits[name], name, key, clock()),
  };
};

let opened: { readonly env: Env; readonly platform: Promise<Platform> } | null = null;

/** The platform of this isolate: opened once, and again whenever the runtime hands out another env. */
export const platformOf = (env: Env): Promise<Platform> => {
  if (opened?.env !== env) {
    const platform = openPlatform(env);
    opened = { env, platform };
    platform.catch(() => {
      if (opened?.platform === platform) opened = null; // a failed opening is tried again, not remembered
    });
  }
  return opened.platform;
};
