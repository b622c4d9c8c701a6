// Provides what rendering a certificate needs in addition to the record: the deployment's base URLs and the current time.
import type { ViewContext } from "../../../core/certificates/public-json.ts";
import type { Runtime } from "../dependencies.ts";

export const getViewContext = ({ config, clock }: Runtime): ViewContext => ({
  verifyBase: config.verifyUrl,
  apiBase: config.baseUrl,
  now: clock(),
});
