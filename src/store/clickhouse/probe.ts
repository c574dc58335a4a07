import type { Clickhouse } from "./client.ts"

/** Characters that a parameter must carry unchanged. */
const TEXT = "\\N '\"`\t\n\r\0\b\f é😀 {text:String}"

/** Expressions that the reader relies on, with the answer of a server that evaluates them as the reader expects. */
const EXPRESSIONS: Readonly<Record<string, readonly [sql: string, answer: unknown]>> = {
  version: ["toUInt32(splitByChar('.', version())[1]) >= 24", 1],
  texts: ["{text:String}", TEXT],
  months: ["toYYYYMM(fromUnixTimestamp64Milli(toInt64(1709251199999), 'UTC'))", 202402],
  days: ["intDiv(toInt64(1709251199999), 86400000) * 86400000", "1709164800000"],
  marks: ["sum(cityHash64(toUInt64(number), toUInt64(7)))", "7776935702236984072"],
  lists: ["arraySort(groupUniqArrayArray([toString(number % 2), 'é', '']))", ["", "0", "1", "é"]],
  properties: ["arrayFilter((value, key) -> key = {text:String}, ['a', 'b'], [{text:String}, 'other'])", ["a"]],
}

/**
 * Asks the server to evaluate what the reader relies on. Returns the names of the expressions whose answers differ: a node must not start
 * with a server for which there are any.
 */
export async function probeClickhouse(clickhouse: Clickhouse): Promise<string[]> {
  const selected = Object.entries(EXPRESSIONS).map(([name, [sql]]) => `${aggregated(sql)} as \`${name}\``)
  const sql = `select ${selected.join(", ")} from numbers(4)`
  const [row] = await clickhouse.rows<Record<string, unknown>>(sql, { parameters: { text: TEXT } })
  return Object.entries(EXPRESSIONS)
    .filter(([name, [, answer]]) => !Bun.deepEquals(row?.[name], answer))
    .map(([name]) => name)
}

/** Returns the time of the server's clock in epoch milliseconds. */
export async function serverTime(clickhouse: Clickhouse): Promise<number> {
  const [row] = await clickhouse.rows<{ now: string }>("select toUnixTimestamp64Milli(now64(3)) as now")
  return Number(row!.now) // the query has one row
}

/** Every expression is an aggregate, because some are. */
const aggregated = (sql: string): string => (/^(sum|arraySort)\(/.test(sql) ? sql : `any(${sql})`)
