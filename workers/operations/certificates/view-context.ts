// What a view of a certificate needs to know of this deployment and of the moment.
import type { ViewContext } from "../../../core/certificates/views.ts";
import type { Runtime } from "../../services.ts";

export const viewContext = ({ config, clock }: Runtime): ViewContext => ({
  verifyBase: config.verifyUrl,
  apiBase: config.baseUrl,
  now: clock(),
});
