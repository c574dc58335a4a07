import type { Statements } from "../../store/catalog/catalog.ts"
import { listSealedRows, replaceSealedValue, type SealedColumn, type SealedRow } from "../../store/catalog/secrets.ts"
import { answerPlace } from "../api-keys/idempotency.ts"
import { mailPlace } from "../mail/mail.ts"
import type { RotatableSecrets, SecretPlace } from "../secrets/secrets.ts"
import { SLUG_PLACE } from "../sharing/share-list.ts"
import { totpPlace } from "../sign-in/second-factors.ts"
import { saltPlace, siteKeyPlace } from "../sites/site-keys.ts"

/** A column with sealed (encrypted) values, and the place that each value is bound to. */
interface Sealed extends SealedColumn {
  placeOf(row: SealedRow): SecretPlace
  /** Display name of the values, in the plural. */
  holds: string
  /** Whether the values are stored as base64 text instead of bytes. */
  isBase64?: true
}

// The columns contain what their services have written.
const text = (row: SealedRow, name: string): string => String(row[name])
const number = (row: SealedRow, name: string): number => Number(row[name])
const answer = (purpose: "answer" | "body hash") => (row: SealedRow) => answerPlace(text(row, "scope"), text(row, "key"), purpose)

/** All columns with sealed values. A test scans all tables for missing ones. Tickets are left out, because they expire within minutes. */
const SEALED: readonly Sealed[] = [
  {
    table: "secrets",
    holds: "stored secrets",
    keys: ["id"],
    column: "sealed",
    context: ["place_table", "place_row", "purpose"],
    placeOf: (row) => ({ table: text(row, "place_table"), row: text(row, "place_row"), purpose: text(row, "purpose") }),
  },
  { table: "users", holds: "authenticator apps", keys: ["id"], column: "totp_sealed", placeOf: (row) => totpPlace(number(row, "id")) },
  {
    table: "mails",
    holds: "queued emails",
    keys: ["id"],
    column: "sealed",
    context: ["name"],
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
    holds: "site keys",
    keys: ["site_id", "purpose"],
    column: "sealed",
    placeOf: (row) => siteKeyPlace(number(row, "site_id"), row.purpose === "identity" ? "identity" : "site"),
  },
  slugsIn("shares"),
  {
    table: "idempotent_answers",
    holds: "idempotent responses",
    keys: ["scope", "key"],
    column: "body",
    isBase64: true,
    placeOf: answer("answer"),
  },
  { table: "idempotent_answers", holds: "idempotent responses", keys: ["scope", "key"], column: "body_hash", placeOf: answer("body hash") },
]

/** Returns the column with the slugs of a table of shares. */
function slugsIn(table: string): Sealed {
  return { table, holds: "addresses of shares", keys: ["id"], column: "slug_sealed", placeOf: () => SLUG_PLACE }
}

const SLICE = 1_000

/** The result of re-encrypting the sealed values of the catalog. */
export interface ResealResult {
  sealed: number
  /** Number of values sealed with a lost key. They remain unchanged and must be entered again. */
  unreadable: number
}

/** Re-encrypts every value that was sealed with another key, in the caller's transaction. `sealedSlugs` names the tables of areas with shares. */
export async function resealAll(statements: Statements, secrets: RotatableSecrets, sealedSlugs: readonly string[]): Promise<ResealResult> {
  const done: ResealResult = { sealed: 0, unreadable: 0 }
  for await (const { column, row, sealed, place } of sealedValues(statements, sealedSlugs)) {
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

/** Number of sealed values, and of those that no key opens, by display name. */
export interface Readability {
  all: number
  unreadable: ReadonlyMap<string, number>
}

export async function countUnreadable(
  catalog: Statements,
  secrets: Pick<RotatableSecrets, "open">,
  sealedSlugs: readonly string[],
): Promise<Readability> {
  const unreadable = new Map<string, number>()
  let all = 0
  for await (const { column, sealed, place } of sealedValues(catalog, sealedSlugs)) {
    all++
    if (!secrets.open(sealed, place)) unreadable.set(column.holds, (unreadable.get(column.holds) ?? 0) + 1)
  }
  return { all, unreadable }
}

async function* sealedValues(statements: Statements, sealedSlugs: readonly string[]) {
  for (const column of [...SEALED, ...sealedSlugs.map(slugsIn)]) {
    let after: SealedRow | undefined
    for (;;) {
      const rows = await listSealedRows(statements, column, after, SLICE)
      for (const row of rows) {
        const value = row[column.column]
        const sealed = column.isBase64 ? Uint8Array.fromBase64(String(value)) : (value as Uint8Array) // a blob, because the table is strict
        yield { column, row, sealed, place: column.placeOf(row) }
      }
      after = rows.at(-1)
      if (rows.length < SLICE) break
    }
  }
}
