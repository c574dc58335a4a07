import { fileHead } from "../../reading/text.ts"
import type { Recognition, Source } from "../../source.ts"
import type { Reading } from "../source-reading.ts"

/**
 * Returns the totals that were read by table, then by day, hour and texts, as one line of counts each. Rows of the same key are added up,
 * as answers do; texts and counts that are empty are left out.
 */
export function totalsOf({ totals }: Reading): Record<string, Record<string, string>> {
  const sums: Record<string, Record<string, Record<string, number>>> = {}
  for (const [kind, { day, hour, texts, counts }] of totals) {
    const values = Object.entries(texts).filter(([, text]) => text !== "")
    const key = [hour === undefined ? day : `${day} ${hour}h`, ...values.map(([name, text]) => `${name}=${text}`)].join(" ")
    sums[kind] ??= {}
    sums[kind][key] ??= {}
    const sum = sums[kind][key]
    for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count
  }
  const line = (sum: Record<string, number>) =>
    Object.entries(sum)
      .filter(([, count]) => count !== 0)
      .map(([name, count]) => `${name} ${count}`)
      .join(" ")
  return Object.fromEntries(
    Object.entries(sums).map(([kind, rows]) => [kind, Object.fromEntries(Object.entries(rows).map(([key, sum]) => [key, line(sum)]))]),
  )
}

/** Returns what a source makes of a file. */
export const recognition = (source: Source, name: string, content: string): Recognition | undefined =>
  source.recognize(fileHead(name, new TextEncoder().encode(content)), {})
