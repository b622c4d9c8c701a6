import type { ViewContext } from "../../../core/certificates/public-json.ts";
import type { Runtime } from "../../services.ts";

/** What a view of a certificate needs to know of this deployment and of the moment. */
export const getViewContext = ({ config, clock }: Runtime): ViewContext => ({
  verifyBase: config.verifyUrl,
  apiBase: config.baseUrl,
  now: clock(),
});
