// Seals exchanges: the request and response of a delivery attempt. An exchange about shared details can contain these details, so it is
// sealed with the share's key. When the share ends or the person's data is erased, the key is deleted, and the exchange can no longer be
// read.
import type { WebhookExchange } from "../core/webhooks/exchange.ts";
import { columnContext, type Sealer } from "./vault.ts";

interface ExchangeOwner {
  readonly deliveryId: string;
  readonly businessId: string;
}

const exchangeContext = columnContext("attempt", "exchange");

/** Seals an exchange. `sealer` is the vault or, for an event about shared details, the sealer with the share's key. */
export const sealExchange = (sealer: Sealer, { deliveryId, businessId }: ExchangeOwner, exchange: WebhookExchange): Promise<string> =>
  sealer.seal(exchangeContext(deliveryId, businessId), JSON.stringify(exchange));

/** Opens an exchange. Throws if the exchange was sealed for another delivery or business. */
export const openExchange = async (sealer: Sealer, { deliveryId, businessId }: ExchangeOwner, sealed: string): Promise<WebhookExchange> =>
  JSON.parse(await sealer.open(exchangeContext(deliveryId, businessId), sealed)) as WebhookExchange;
