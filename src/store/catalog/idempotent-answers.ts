import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** The stored response to a request with an Idempotency-Key. */
export interface IdempotentAnswer {
  /** SHA-256 of the body that was sent, sealed. */
  body_hash: Uint8Array
  status: number
  headers: Readonly<Record<string, string>>
  body: string
}

export async function findIdempotentAnswer(
  catalog: Statements,
  { scope, key, since }: { scope: string; key: string; since: number },
): Promise<IdempotentAnswer | undefined> {
  const row = await catalog.get<Omit<IdempotentAnswer, "headers"> & { headers_json: string }>(sql`
    select body_hash, status, headers_json, body from idempotent_answers
    where scope = ${scope} and key = ${key} and created_at > ${since}`)
  if (!row) return undefined
  const { headers_json, ...answer } = row
  return { ...answer, headers: JSON.parse(headers_json) as Record<string, string> } // written here
}

/** Inserts a response. Returns false if there is one that was created after a moment. */
export async function insertIdempotentAnswer(
  catalog: Statements,
  { scope, key, now, since }: { scope: string; key: string; now: number; since: number },
  { body_hash, status, headers, body }: IdempotentAnswer,
): Promise<boolean> {
  const row = await catalog.get(sql`
    insert into idempotent_answers (scope, key, body_hash, status, headers_json, body, created_at)
    values (${scope}, ${key}, ${body_hash}, ${status}, ${JSON.stringify(headers)}, ${body}, ${now})
    on conflict do update set
      body_hash = excluded.body_hash, status = excluded.status, headers_json = excluded.headers_json, body = excluded.body,
      created_at = excluded.created_at
      where created_at <= ${since}
    returning key`)
  return row !== undefined
}

/** Deletes a response, such as one that cannot be decrypted. */
export const deleteIdempotentAnswer = (catalog: Statements, { scope, key }: { scope: string; key: string }): Promise<void> =>
  catalog.run(sql`delete from idempotent_answers where scope = ${scope} and key = ${key}`)

/** Deletes at most `limit` responses created up to a moment. */
export const deleteIdempotentAnswers = (catalog: Statements, until: number, limit: number): Promise<void> =>
  catalog.run(sql`
    delete from idempotent_answers where (scope, key) in (
      select scope, key from idempotent_answers where created_at <= ${until} order by created_at limit ${limit}
    )`)

/** Returns the scope under which a part of a long response is stored. Parts are counted from 0. */
export const partScope = (scope: string, part: number): string => `${scope} part ${part}`

/** Deletes all parts of a response. Their scopes are one range, which `:` ends because it is the character after the digits. */
export const deleteIdempotentParts = (catalog: Statements, { scope, key }: { scope: string; key: string }): Promise<void> =>
  catalog.run(sql`
    delete from idempotent_answers where scope >= ${`${scope} part 0`} and scope < ${`${scope} part :`} and key = ${key}`)
