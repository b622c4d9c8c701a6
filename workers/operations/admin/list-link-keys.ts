// Lists the names of the link keys that this isolate uses, so that the operator's command can check a rotation (POST /v1/admin/keys/links).
import type { AdminDependencies } from "./dependencies.ts";

export interface LinkKeyNames {
  /** The name of the key that creates tokens. */
  readonly current: string;
  /** The names of all keys whose tokens are accepted. */
  readonly accepted: readonly string[];
}

export const listLinkKeys = ({ config: { linkKeys } }: AdminDependencies): LinkKeyNames => {
  const { current, others } = linkKeys;
  return { current: current.name, accepted: [current, ...others].map(({ name }) => name) };
};
