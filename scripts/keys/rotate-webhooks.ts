// Replaces the signing secret of one webhook endpoint or of all endpoints. The service does the work in steps. The state file records the
// progress, so the command can continue after an interruption and never replaces a secret twice.
import { existsSync, readFileSync } from "node:fs";
import { writeSecrets, type Secrets } from "../deploy/secrets.ts";

export interface SecretStepResult {
  /** Secrets that are older than this time (ISO 8601) are replaced. */
  readonly before: string;
  readonly replaced: number;
  readonly outdated: number;
  /** When the last of the earlier secrets stops signing, in ISO 8601 format. Null if no earlier secret signs. */
  readonly earlier_until: string | null;
  readonly next: object | null;
}

/**
 * Runs one step in the service. If `before` is null, the step covers all secrets that exist now. If `isCheck` is true, no secret is
 * replaced.
 */
export type ReplaceSecrets = (request: {
  readonly before: string | null;
  readonly webhookId: string | null;
  readonly cursor: object | null;
  readonly isCheck: boolean;
}) => Promise<SecretStepResult>;

interface WebhookRotationState {
  /** A time that the service chose (ISO 8601). Older secrets are replaced. */
  readonly before: string;
  /** The endpoint whose secret is replaced; null for all endpoints. */
  readonly webhookId: string | null;
  readonly cursor: object | null;
  readonly replaced: number;
  /** The number of secrets that this pass through the endpoints could not replace. They can be replaced after `earlierUntil`. */
  readonly outdated: number;
  readonly earlierUntil: string | null;
  readonly isComplete: boolean;
}

export interface WebhookRotationOptions {
  /** The path of the file that stores the progress of all rotations. */
  readonly statePath: string;
  readonly webhookId: string | null;
  readonly replaceSecrets: ReplaceSecrets;
  readonly report: (text: string) => void;
}

const readState = (path: string): WebhookRotationState | null =>
  existsSync(path) ? ((JSON.parse(readFileSync(path, "utf8")) as { readonly webhook?: WebhookRotationState }).webhook ?? null) : null;

const saveState = (path: string, webhook: WebhookRotationState): void => {
  const others = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as object) : {};
  writeSecrets(path, { ...others, webhook } as unknown as Secrets);
};

const describeScope = (webhookId: string | null): string => (webhookId === null ? "every webhook endpoint" : webhookId);

/** Returns the interrupted rotation, or null if there is none. Throws if the interrupted rotation is for different endpoints. */
const findInterrupted = ({
  statePath,
  webhookId,
}: Pick<WebhookRotationOptions, "statePath" | "webhookId">): WebhookRotationState | null => {
  const state = readState(statePath);
  if (state === null || state.isComplete) return null;
  if (state.webhookId !== webhookId)
    throw new Error(`A rotation for ${describeScope(state.webhookId)} is not complete. Complete it first, with the same options.`);
  return state;
};

export const describeWebhookRotation = (options: Pick<WebhookRotationOptions, "statePath" | "webhookId">): string => {
  const interrupted = findInterrupted(options);
  const progress = interrupted === null ? "" : ` ${interrupted.replaced} secrets have been replaced so far.`;
  return [
    `  next  1. Give ${describeScope(options.webhookId)} a new signing secret, and tell its owners by email.${progress}`,
    "  then  2. For seven days, deliveries are signed with both secrets. Then the earlier secrets stop signing automatically.",
  ].join("\n");
};

/** ISO 8601 times of the same form can be compared as text. */
const getLater = (one: string | null, other: string | null): string | null => ((one ?? "") > (other ?? "") ? one : other);

/**
 * Starts a rotation. Its start time is saved before any secret is replaced, so that a repeated command does not replace the new secrets.
 */
const startRotation = async ({ statePath, webhookId, replaceSecrets }: WebhookRotationOptions): Promise<WebhookRotationState> => {
  const { before } = await replaceSecrets({ before: null, webhookId, cursor: null, isCheck: true });
  const state = { before, webhookId, cursor: null, replaced: 0, outdated: 0, earlierUntil: null, isComplete: false };
  saveState(statePath, state);
  return state;
};

/** Replaces the secrets. Returns whether all of them are replaced. Throws if there is nothing to replace for the given endpoint. */
export const rotateWebhooks = async (options: WebhookRotationOptions): Promise<boolean> => {
  const { statePath, webhookId, replaceSecrets, report } = options;
  let state = findInterrupted(options) ?? (await startRotation(options));
  if (state.cursor === null) state = { ...state, outdated: 0, earlierUntil: null };
  do {
    const step = await replaceSecrets({ before: state.before, webhookId, cursor: state.cursor, isCheck: false });
    state = {
      ...state,
      cursor: step.next,
      replaced: state.replaced + step.replaced,
      outdated: state.outdated + step.outdated,
      earlierUntil: getLater(step.earlier_until, state.earlierUntil),
    };
    state = { ...state, isComplete: step.next === null && state.outdated === 0 };
    saveState(statePath, state);
  } while (state.cursor !== null);
  // Also thrown if an earlier run replaced the secret but did not get the response.
  if (webhookId !== null && state.replaced + state.outdated === 0)
    throw new Error(`No secret was replaced: no endpoint has the ID ${webhookId}, or its secret is from ${state.before} or later.`);
  report(`  ${state.replaced} secrets were replaced.`);
  if (!state.isComplete) {
    report(
      `  ${state.outdated} secrets were not replaced, because they were rotated shortly before and the earlier ones still sign. Run the same command again after ${state.earlierUntil}.`,
    );
    return false;
  }
  report("\nThe rotation is complete.");
  return true;
};

/** Returns whether the last rotation replaced every secret that it should have replaced, and a sentence about the result. */
export const checkWebhookRotation = async ({
  statePath,
  replaceSecrets,
}: Pick<WebhookRotationOptions, "statePath" | "replaceSecrets">): Promise<{ readonly isComplete: boolean; readonly text: string }> => {
  const state = readState(statePath);
  if (state === null) return { isComplete: false, text: "No signing secrets were rotated with this folder." };
  let outdated = 0;
  let earlierUntil: string | null = null;
  for (let cursor: object | null = null; ; ) {
    const step: SecretStepResult = await replaceSecrets({ before: state.before, webhookId: state.webhookId, cursor, isCheck: true });
    outdated += step.outdated;
    earlierUntil = getLater(step.earlier_until, earlierUntil);
    if (step.next === null) break;
    cursor = step.next;
  }
  const overlap = earlierUntil === null ? "No earlier secret signs." : `Earlier secrets also sign, the last one until ${earlierUntil}.`;
  return outdated === 0
    ? { isComplete: true, text: `Every signing secret is from ${state.before} or later. ${overlap}` }
    : { isComplete: false, text: `${outdated} signing secrets are from before ${state.before}. ${overlap}` };
};
