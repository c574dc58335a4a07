import type { Channel } from "../domain/dimension.ts"
import type { Campaign } from "./campaign.ts"
import { AFFILIATE_MEDIUMS, DISPLAY_MEDIUMS, EMAIL_WORDS, GOOGLE_CLICK_IDS, SOCIAL_MEDIUMS } from "./data/channel-words.ts"
import type { Source } from "./source.ts"

/** All texts in lower case. */
interface Facts {
  source: string
  category: Source["category"]
  paidAlias: boolean
  medium: string
  campaign: string
  clickId: string
  paidMedium: boolean
  shop: boolean
}

type Rule = readonly [channel: Channel, holds: (facts: Facts) => boolean]

/** The first rule that holds gives the channel (metrics.md section 8). */
const RULES: readonly Rule[] = [
  ["Cross-network", ({ campaign }) => campaign.includes("cross-network")],
  ["Paid Shopping", ({ shop, paidMedium }) => shop && paidMedium],
  ["Paid Search", isPaidSearch],
  ["Paid Social", ({ category, paidMedium, paidAlias }) => category === "social" && (paidMedium || paidAlias)],
  ["Paid Video", ({ category, paidMedium }) => category === "video" && paidMedium],
  ["Display", ({ medium }) => DISPLAY_MEDIUMS.has(medium)],
  ["Paid Other", ({ paidMedium }) => paidMedium],
  ["Organic Shopping", ({ shop }) => shop],
  ["Organic Social", ({ category, medium }) => category === "social" || SOCIAL_MEDIUMS.has(medium)],
  ["Organic Video", ({ category, medium }) => category === "video" || medium.includes("video")],
  ["AI Assistants", ({ category }) => category === "ai"],
  ["Organic Search", ({ category, medium }) => category === "search" || medium === "organic"],
  [
    "Email",
    ({ category, source, medium }) => category === "email" || EMAIL_WORDS.some((word) => source.includes(word) || medium.includes(word)),
  ],
  ["Affiliates", ({ medium }) => AFFILIATE_MEDIUMS.has(medium)],
  ["Audio", ({ medium }) => medium === "audio"],
  ["SMS", ({ source, medium }) => source === "sms" || medium === "sms"],
  ["Mobile Push", isMobilePush],
  ["Referral", ({ source }) => source !== ""],
]

export function channelOf(source: Source, campaign: Campaign): Channel {
  const medium = campaign.utm_medium.toLowerCase()
  const words = campaign.utm_campaign.toLowerCase()
  const facts: Facts = {
    source: source.name.toLowerCase(),
    category: source.category,
    paidAlias: source.paid,
    medium,
    campaign: words,
    clickId: campaign.click_id_type,
    paidMedium: medium.includes("cp") || medium === "ppc" || medium === "retargeting" || medium.startsWith("paid"),
    shop: source.category === "shopping" || words.includes("shopping") || SHOP.test(words),
  }
  for (const [channel, holds] of RULES) if (holds(facts)) return channel
  return "Direct"
}

// `spring-shop` and `eshop-may`, not `workshop`.
const SHOP = /(?:^|\P{L})e?shop/u

function isPaidSearch({ category, source, clickId, paidMedium, paidAlias }: Facts): boolean {
  if (category === "search" && (paidMedium || paidAlias)) return true
  return (source === "google" && GOOGLE_CLICK_IDS.has(clickId)) || (source === "bing" && clickId === "msclkid")
}

function isMobilePush({ source, medium }: Facts): boolean {
  return medium.endsWith("push") || medium.includes("mobile") || medium.includes("notification") || source === "firebase"
}
