import type { Site } from "../../domain/site.ts"
import { personKey } from "../../ingest/identity/visitor.ts"
import { numbersOfPseudonyms, pseudonyms } from "../../query/show/pseudonyms.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { SiteKeys } from "../sites/site-keys.ts"
import { createIdentityRule, type IdentityRule, type IdentityRuleOptions } from "./identity.ts"

/**
 * The people of a site: who counts in a request, and who someone is. A person has the number of a visitor, and a pseudonym outside the program. No
 * caller sees a person key or the keys of a site.
 */
export interface People extends IdentityRule {
  /** Returns the start of the site's data in epoch ms, imports included; undefined without any. */
  firstAt(site: Site): number | undefined
  /**
   * Returns the numbers of the person with a user id. Empty for an unknown one. More than one if the site stores user ids and its
   * identity mode was left in between, because later identifications do not join earlier ones.
   */
  find(site: Site, userId: string): Promise<number[]>
  /** Returns the user ids of people, by number, as far as the site stores them. */
  userIds(site: Site, numbers: readonly number[]): Promise<Map<number, string>>
  /** Returns the number of a pseudonym of 16 hex digits, or undefined if it is not one of this site. */
  numberOf(siteId: number, pseudonym: string): Promise<number | undefined>
  /** Returns the function that converts pseudonyms of 16 hex digits to numbers. Each must be one of this site. */
  numberer(siteId: number): Promise<(pseudonyms: readonly string[]) => number[]>
  /** Returns the pseudonyms of numbers. */
  pseudonymsOf(site: Site, numbers: readonly number[]): Promise<string[]>
}

export interface PeopleOptions extends IdentityRuleOptions {
  siteKeys: Pick<SiteKeys, "siteKey" | "identityKey">
  events: Pick<EventStore, "hasPeople" | "personOf" | "peopleOfUser" | "userIds" | "mayBeVisitor">
}

export function createPeople(options: PeopleOptions): People {
  const { siteKeys, events, imports } = options
  return {
    ...createIdentityRule(options),
    firstAt: ({ id }) => imports.firstAt(id),
    async find({ id, settings }, userId) {
      const known = await events.personOf(id, personKey(await siteKeys.identityKey(id), "user", userId))
      const stored = settings.store_user_ids ? await events.peopleOfUser(id, userId) : []
      return [...new Set([...(known === undefined ? [] : [known]), ...stored])]
    },
    userIds: async ({ id, settings }, numbers) => (settings.store_user_ids ? events.userIds(id, numbers) : new Map()),
    async numberOf(id, pseudonym) {
      if (!/^[0-9a-f]{16}$/.test(pseudonym)) return undefined
      const [number] = numbersOfPseudonyms(await siteKeys.siteKey(id), "visitor")([pseudonym])
      // Every text of this form is the pseudonym of some number, but almost none of them of a visitor of this site.
      return events.mayBeVisitor(id, number!) ? number : undefined
    },
    numberer: async (id) => numbersOfPseudonyms(await siteKeys.siteKey(id), "visitor"),
    pseudonymsOf: async ({ id }, numbers) => pseudonyms(await siteKeys.siteKey(id), "visitor")(numbers),
  }
}
