import type { Statements } from "../store/catalog/catalog.ts"
import { listSealedRows, replaceSealedValue, type SealedColumn, type SealedRow } from "../store/catalog/sealed-values.ts"
import { answerPlace } from "./idempotency.ts"
import { mailPlace } from "./mail.ts"
import { saltPlace } from "./salts.ts"
import type { KeptSecrets, SecretPlace } from "./secrets.ts"
import { SLUG_PLACE } from "./share-slugs.ts"
import { siteKeyPlace } from "./site-keys.ts"
import { totpPlace } from "./totp.ts"

/** Where sealed values stand, and for which place each was sealed. */
interface Sealed extends SealedColumn {
  placeOf(row: SealedRow): SecretPlace
  /** What people call them. */
  holds: string
  /** As text instead of bytes. */
  isBase64?: true
}

// Rows hold what their own services wrote.
const text = (row: SealedRow, name: string): string => String(row[name])
const number = (row: SealedRow, name: string): number => Number(row[name])
const answer = (purpose: "answer" | "body hash") => (row: SealedRow) => answerPlace(text(row, "scope"), text(row, "key"), purpose)

/** Every one there is: a test looks at all tables for values that were forgotten here. Tickets end within minutes. */
const SEALED: readonly Sealed[] = [
  {
    table: "secrets",
    holds: "stored secrets",
    keys: ["id"],
    column: "sealed",
    beside: ["place_table", "place_row", "purpose"],
    placeOf: (row) => ({ table: text(row, "place_table"), row: text(row, "place_row"), purpose: text(row, "purpose") }),
  },
  { table: "users", holds: "authenticator apps", keys: ["id"], column: "totp_sealed", placeOf: (row) => totpPlace(number(row, "id")) },
  {
    table: "mails",
    holds: "waiting mails",
    keys: ["id"],
    column: "sealed",
    beside: ["name"],
    placeOf: (row) => mailPlace(text(row, "name")),
  },
  {
    table: "salts",
    holds: "salts",
    keys: ["site_id", "period"],
    column: "sealed",
    placeOf: (row) => saltPlace(number(row, "site_id"), text(row, "period")),
  },
  {
    table: "site_keys",
    holds: "keys of sites",
    keys: ["site_id", "purpose"],
    column: "sealed",
    placeOf: (row) => siteKeyPlace(number(row, "site_id"), row.purpose === "identity" ? "identity" : "site"),
  },
  { table: "shares", holds: "addresses of shared views", keys: ["id"], column: "slug_sealed", placeOf: () => SLUG_PLACE },
  { table: "idempotent_answers", holds: "kept answers", keys: ["scope", "key"], column: "body", isBase64: true, placeOf: answer("answer") },
  { table: "idempotent_answers", holds: "kept answers", keys: ["scope", "key"], column: "body_hash", placeOf: answer("body hash") },
]

const SLICE = 1_000

/** What became of the sealed values of the catalog. */
export interface Resealed {
  sealed: number
  /** Sealed with a key that nobody knows any more: they stay as they are, and what needs them asks for them anew. */
  unreadable: number
}

/** Seals every value with the current key that another one has sealed, in the caller's transaction. */
export async function sealAnew(statements: Statements, secrets: KeptSecrets): Promise<Resealed> {
  const done: Resealed = { sealed: 0, unreadable: 0 }
  for await (const { column, row, sealed, place } of sealedValues(statements)) {
    if (secrets.isCurrent(sealed)) continue
    const plain = secrets.open(sealed, place)
    if (!plain) {
      done.unreadable++
      continue
    }
    const fresh = secrets.seal(plain, place)
    await replaceSealedValue(statements, column, row, column.isBase64 ? fresh.toBase64() : fresh)
    done.sealed++
  }
  return done
}

/** How many sealed values there are, and how many that no key opens, by what people call them. */
export interface Readability {
  all: number
  unreadable: ReadonlyMap<string, number>
}

export async function countUnreadable(catalog: Statements, secrets: Pick<KeptSecrets, "open">): Promise<Readability> {
  const unreadable = new Map<string, number>()
  let all = 0
  for await (const { column, sealed, place } of sealedValues(catalog)) {
    all++
    if (!secrets.open(sealed, place)) unreadable.set(column.holds, (unreadable.get(column.holds) ?? 0) + 1)
  }
  return { all, unreadable }
}

async function* sealedValues(statements: Statements) {
  for (const column of SEALED) {
    let after: SealedRow | undefined
    for (;;) {
      const rows = await listSealedRows(statements, column, after, SLICE)
      for (const row of rows) {
        const value = row[column.column]
        const sealed = column.isBase64 ? Uint8Array.fromBase64(String(value)) : (value as Uint8Array) // a blob: the table is strict
        yield { column, row, sealed, place: column.placeOf(row) }
      }
      after = rows.at(-1)
      if (rows.length < SLICE) break
    }
  }
}
