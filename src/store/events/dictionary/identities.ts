import type { Database } from "bun:sqlite"
import type { VisitorKind } from "../../../domain/visit.ts"
import { translateErrors } from "../fault.ts"
import type { Journal } from "../journal.ts"
import type { Hash64 } from "../writer.ts"
import { hashBytes } from "./hash-table.ts"

/**
 * The visitors that are recognized by a user id or device id, by person key. Neither can be derived from a key. The number of a visitor is
 * the ordinal, or in a store with a second engine what all nodes know the visitor by.
 */
export interface Identities {
  /** Returns whether visitors of the site were recognized by a user id or device id. */
  hasPeople(siteId: number): Promise<boolean>
  /** Returns false for a number that no visitor of the site has. */
  mayBeVisitor(siteId: number, number: number): boolean
  /** Returns the number of the visitor with a person key. */
  personOf(siteId: number, key: Hash64): Promise<number | undefined>
  /** Returns the numbers by which all nodes know the visitors with some person keys. Only of a store with a second engine. */
  numbersOfPeople(siteId: number, keys: readonly Hash64[]): Promise<number[]>
  /** Returns the numbers of the visitors with a stored user id: several after a change of the identity key. */
  peopleOfUser(siteId: number, userId: string): Promise<number[]>
  /** Returns the stored user ids of visitors, by number. */
  userIds(siteId: number, numbers: readonly number[]): Promise<Map<number, string>>
  /** Deletes the stored user ids of the sites that `stores` rejects. Resolves with the number of deleted ids. */
  forgetUserIds(stores: (siteId: number) => boolean): Promise<number>
}

/** Above the numbers of visitors that all nodes know. */
const NUMBER_LIMIT = 2 ** 53

/** Number of rows per transaction. Overwritten rows take time. */
const SLICE = 500

/** The numbers that visitors have outside of a store with a second engine. */
interface SharedNumbers {
  of(siteId: number, ordinals: readonly number[]): Promise<number[]>
  /** Returns the ordinals of people by number. */
  people(siteId: number, numbers: readonly number[]): Promise<Map<number, number>>
  /** Returns the numbers of the people with some keys. */
  ofPeople(siteId: number, keys: readonly Hash64[]): Promise<number[]>
}

/** Creates the lookups. `numbers` returns those of a store with a second engine. */
export function identitiesOf(journal: Journal, numbers: () => SharedNumbers | undefined): Identities {
  const { db } = journal
  return {
    hasPeople: async (siteId) => translateErrors(() => db.query("select 1 from identities where site_id = ? limit 1").get(siteId) !== null),
    mayBeVisitor: (siteId, number) =>
      number < (numbers() ? NUMBER_LIMIT : translateErrors(() => journal.memory.visitors.nextOrdinal(siteId))),
    async personOf(siteId, key) {
      const ordinal = translateErrors(() => personByKey(db, siteId, key)?.ordinal)
      return ordinal === undefined ? undefined : ((await numbers()?.of(siteId, [ordinal]))?.[0] ?? ordinal)
    },
    numbersOfPeople: (siteId, keys) =>
      numbers()?.ofPeople(siteId, keys) ?? Promise.reject(new Error("Only a store with a second engine numbers people by their keys")),
    async peopleOfUser(siteId, userId) {
      const ordinals = translateErrors(() => ordinalsOfUser(db, siteId, userId))
      return (await numbers()?.of(siteId, ordinals)) ?? ordinals
    },
    async userIds(siteId, wanted) {
      const people = await numbers()?.people(siteId, wanted)
      if (!people) return translateErrors(() => userIdsOf(db, siteId, wanted))
      const found = translateErrors(() => userIdsOf(db, siteId, [...people.values()]))
      return new Map([...people].flatMap(([number, ordinal]) => (found.has(ordinal) ? [[number, found.get(ordinal)!] as const] : [])))
    },
    async forgetUserIds(stores) {
      let forgotten = 0
      for (let siteId = siteWithUserIds(db, 0); siteId !== undefined; siteId = siteWithUserIds(db, siteId)) {
        if (stores(siteId)) continue
        for (let count = SLICE; count === SLICE; forgotten += count) {
          count = journal.commit(() => forgetUserIdsOf(db, siteId, SLICE))
          await Bun.sleep(0)
        }
      }
      return forgotten
    },
  }
}

/** A visitor with a person key, as stored. Null times are those of earlier versions. */
export interface StoredPerson {
  ordinal: number
  first_identified_at: number | null
  last_identified_at: number | null
  has_user_id: number
}

export function personByKey(db: Database, siteId: number, key: Hash64): StoredPerson | undefined {
  const sql = `select ordinal, first_identified_at, last_identified_at, user_id is not null as has_user_id
    from identities where site_id = ? and person_key = ?`
  return db.query<StoredPerson, [number, Uint8Array]>(sql).get(siteId, hashBytes(key)) ?? undefined
}

/** The identification of a visitor by an event. */
export interface Identification {
  key: Hash64
  kind: Exclude<VisitorKind, "rotating">
  /** User id to store; "" for none. */
  userId: string
  /** Epoch ms. */
  at: number
}

/** Adds a visitor, in the transaction of the caller. */
export function insertPerson(db: Database, siteId: number, ordinal: number, { key, kind, userId, at }: Identification): void {
  const sql = `insert into identities (site_id, person_key, ordinal, kind, first_identified_at, last_identified_at, user_id)
    values (?1, ?2, ?3, ?4, ?5, ?5, ?6)`
  db.query(sql).run(siteId, hashBytes(key), ordinal, kind, at, userId === "" ? null : userId)
}

const DAY_MS = 86_400_000

/**
 * Returns whether an identification changes what is stored of a visitor: once a day, when the user id is still missing, and when an
 * import shows that the visitor was identified earlier.
 */
export function isNews({ first_identified_at: first, last_identified_at: last, has_user_id }: StoredPerson, of: Identification): boolean {
  if (first === null || last === null || (of.userId !== "" && has_user_id === 0)) return true
  return of.at < first || of.at - last >= DAY_MS
}

/** Stores an identification of a known visitor, in the transaction of the caller. */
export function updatePerson(db: Database, siteId: number, { key, kind, userId, at }: Identification): void {
  const sql = `update identities set kind = ?3, first_identified_at = min(coalesce(first_identified_at, ?4), ?4),
    last_identified_at = max(coalesce(last_identified_at, ?4), ?4), user_id = coalesce(user_id, ?5) where site_id = ?1 and person_key = ?2`
  db.query(sql).run(siteId, hashBytes(key), kind, at, userId === "" ? null : userId)
}

/** Deletes the keys of a visitor, in the transaction of the caller. */
export const deletePerson = (db: Database, siteId: number, ordinal: number): void =>
  void db.query("delete from identities where site_id = ? and ordinal = ?").run(siteId, ordinal)

const ordinalsOfUser = (db: Database, siteId: number, userId: string): number[] =>
  db
    .query<{ ordinal: number }, [number, string]>("select ordinal from identities where site_id = ? and user_id = ? order by ordinal")
    .all(siteId, userId)
    .map(({ ordinal }) => ordinal)

function userIdsOf(db: Database, siteId: number, ordinals: readonly number[]): Map<number, string> {
  const sql = "select user_id as userId from identities where site_id = ? and ordinal = ? and user_id is not null"
  const find = db.query<{ userId: string }, [number, number]>(sql)
  const found = ordinals.map((ordinal) => [ordinal, find.get(siteId, ordinal)?.userId] as const)
  return new Map(found.filter((entry): entry is readonly [number, string] => entry[1] !== undefined))
}

/** Returns the next site, by id, that has stored user ids. */
function siteWithUserIds(db: Database, after: number): number | undefined {
  const sql = "select site_id as siteId from identities where site_id > ? and user_id is not null order by site_id limit 1"
  return translateErrors(() => db.query<{ siteId: number }, [number]>(sql).get(after)?.siteId)
}

function forgetUserIdsOf(db: Database, siteId: number, count: number): number {
  const chosen = "select person_key from identities where site_id = ?1 and user_id is not null limit ?2"
  return db.query(`update identities set user_id = null where site_id = ?1 and person_key in (${chosen})`).run(siteId, count).changes
}
