// Provides the base URLs and the current time for rendering a certificate.
import type { ViewContext } from "../../../core/certificates/public-json.ts";
import type { Runtime } from "../dependencies.ts";

export const getViewContext = ({ config, clock }: Runtime): ViewContext => ({
  verifyBase: config.verifyUrl,
  apiBase: config.baseUrl,
  now: clock(),
});
