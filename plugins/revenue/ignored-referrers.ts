/**
 * Hosts of payment pages and bank confirmations, from which visitors return to a shop. A visit from one of them, or from a host below
 * it, did not bring the visitor. As of 2026-11-26; a site can have its own list.
 */
export const IGNORED_REFERRERS: readonly string[] = [
  ...["checkout.stripe.com", "buy.stripe.com", "billing.stripe.com", "invoice.stripe.com", "hooks.stripe.com", "js.stripe.com"],
  ...["paypal.com", "paypalobjects.com", "venmo.com"],
  ...["klarna.com", "klarna.net"],
  ...["adyen.com", "adyenpayments.com"],
  ...["mollie.com"],
  ...["paddle.com", "checkout.paddle.com", "buy.paddle.com"],
  ...["lemonsqueezy.com", "pay.shopify.com", "shop.app", "pay.google.com", "applepay.apple.com", "pay.amazon.com", "payments.amazon.com"],
  ...["giropay.de", "sofort.com", "eps-ueberweisung.at", "ideal.nl", "przelewy24.pl", "bancontact.com", "twint.ch"],
  ...["arcot.com", "3dsecure.io", "cardinalcommerce.com", "acs.3dsecure.no", "netcetera-payment.ch", "rsa3dsauth.com"],
  ...["securesuite.co.uk", "wlp-acs.com", "3ds.payxpert.com", "secureacs.com"],
].toSorted()

/** Returns whether a host is one of those in a list, or below one. */
export function isBelow(host: string, list: ReadonlySet<string>): boolean {
  for (let rest = host.toLowerCase(); rest !== ""; ) {
    if (list.has(rest)) return true
    const dot = rest.indexOf(".")
    rest = dot < 0 ? "" : rest.slice(dot + 1)
  }
  return false
}
