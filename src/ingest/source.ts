import type { Campaign } from "./campaign.ts"
import { type KnownSource, SOURCES, type SourceCategory } from "./data/sources.ts"
import type { Referrer } from "./referrer.ts"
import { byParents } from "./registrable.ts"

/** Who sent a visit. Without a category the name is not in the table. */
export interface Source {
  name: string
  category: SourceCategory | undefined
  /** The word that named it is that of an ad product, such as `adwords`. */
  paid: boolean
}

interface Entry {
  source: KnownSource
  paid: boolean
}

const DIRECT: Source = { name: "", category: undefined, paid: false }
const byWord = new Map<string, Entry>()
const byHost = new Map<string, Entry>()
for (const source of SOURCES) {
  byWord.set(source.name.toLowerCase(), { source, paid: false })
  for (const alias of source.aliases) byWord.set(alias, { source, paid: false })
  for (const alias of source.paid ?? []) byWord.set(alias, { source, paid: true })
  for (const host of source.hosts) byHost.set(host, { source, paid: false })
}

/** First that is present: the parameters in their order, the referrer. A name the table knows is written as there. */
export function sourceOf(campaign: Campaign, referrer: Referrer): Source {
  const named = campaign.utm_source || campaign.source || campaign.ref
  if (named !== "") return known(named.toLowerCase()) ?? { name: named, category: undefined, paid: false }
  if (referrer.host === "") return DIRECT
  const entry = byParents(byHost, referrer.host)
  return entry ? sourceFrom(entry) : { name: referrer.host, category: undefined, paid: false }
}

function known(word: string): Source | undefined {
  const plain = word.startsWith("www.") ? word.slice(4) : word
  const entry = byWord.get(word) ?? (plain.includes(".") ? byParents(byHost, plain) : undefined)
  return entry && sourceFrom(entry)
}

const sourceFrom = ({ source, paid }: Entry): Source => ({ name: source.name, category: source.category, paid })
