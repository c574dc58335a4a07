import { COLLECT } from "../domain/limits.ts"
import { tagValue } from "./text.ts"

/** What the query of a page says about how a visit came about. "" is missing. */
export interface Campaign {
  utm_source: string
  utm_medium: string
  utm_campaign: string
  utm_term: string
  utm_content: string
  click_id_type: string
  /** Parameters `source` and `ref`, which name a source where `utm_source` does not. */
  source: string
  ref: string
}

const CLICK_IDS = ["gclid", "gbraid", "wbraid", "msclkid", "fbclid", "ttclid", "twclid", "li_fat_id"]

const NONE: Campaign = {
  utm_source: "",
  utm_medium: "",
  utm_campaign: "",
  utm_term: "",
  utm_content: "",
  click_id_type: "",
  source: "",
  ref: "",
}

export function campaignOf(query: string): Campaign {
  if (query === "") return NONE
  const sent = new URLSearchParams(query)
  const value = (name: string) => tagValue(sent.get(name) ?? "", COLLECT.utmChars)
  return {
    utm_source: value("utm_source"),
    utm_medium: value("utm_medium"),
    utm_campaign: value("utm_campaign"),
    utm_term: value("utm_term"),
    utm_content: value("utm_content"),
    click_id_type: CLICK_IDS.find((name) => sent.get(name)) ?? "",
    source: value("source"),
    ref: value("ref"),
  }
}
