import type { Campaign } from "./campaign.ts"
import { SOURCES, type SourceCategory } from "./data/sources.ts"
import type { Referrer } from "./referrer.ts"
import { byParents } from "./registrable.ts"

/** Who sent a visit. Without a category the name is not in the table. */
export interface Source {
  name: string
  category: SourceCategory | undefined
  /** The word that named it is that of an ad product, such as `adwords`. */
  paid: boolean
}

const DIRECT: Source = { name: "", category: undefined, paid: false }
const { byWord, byHost } = tables()

/** A function, so that what is compiled for its loop is this and not the whole program around it. */
function tables() {
  const byWord = new Map<string, Source>()
  const byHost = new Map<string, Source>()
  for (const { name, category, aliases, paid, hosts } of SOURCES) {
    const source: Source = { name, category, paid: false }
    for (const word of [name.toLowerCase(), ...aliases]) byWord.set(word, source)
    for (const word of paid ?? []) byWord.set(word, { ...source, paid: true })
    for (const host of hosts) byHost.set(host, source)
  }
  return { byWord, byHost }
}

/** First that is present: the parameters in their order, the referrer. A name the table knows is written as there. */
export function sourceOf(campaign: Campaign, referrer: Referrer): Source {
  const named = campaign.utm_source || campaign.source || campaign.ref
  if (named !== "") return known(named.toLowerCase()) ?? { name: named, category: undefined, paid: false }
  if (referrer.host === "") return DIRECT
  return byParents(byHost, referrer.host) ?? { name: referrer.host, category: undefined, paid: false }
}

function known(word: string): Source | undefined {
  const plain = word.startsWith("www.") ? word.slice(4) : word
  return byWord.get(word) ?? (plain.includes(".") ? byParents(byHost, plain) : undefined)
}
