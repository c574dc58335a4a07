/** Reasons of drops as people read them; apart from the numbers, which the first view has without them. */
export const REASON_WORDS: Readonly<Record<string, string>> = {
  unknown_site: "Unknown site",
  invalid: "Not a valid event",
  rate: "Too many from one address",
  prefetch: "Loaded ahead by a browser",
  bot: "Bots",
  host: "Hosts that are not the site's",
  ip: "Blocked addresses",
  datacenter: "Data centres",
  spam: "Spam referrers",
  probe: "Probes for weak spots",
  page: "Blocked pages",
  country: "Blocked countries",
  rule: "Your rules",
  gpc: "Browsers that object to being counted",
  duplicate: "Sent twice",
  no_visit: "Belongs to no visit",
}
