/** The people whom the nodes of an instance have identified. All nodes know a person by the same number. */
import { type Clickhouse, ClickhouseFault, withStoreFault } from "../../store/clickhouse/client.ts"
import { hasPeople, hasVisitor } from "../../store/clickhouse/erase.ts"
import { deleteUserIds, sitesWithUserIds, userIdsOf, visitorsOfUser } from "../../store/clickhouse/tallies.ts"
import type { EventStore } from "../../store/events/events.ts"

type SharedPeople = Pick<EventStore, "hasPeople" | "personOf" | "peopleOfUser" | "userIds" | "forgetUserIds">

/** Returns the lookups of people, which other nodes may have identified. They reject with a `StoreFault` while ClickHouse cannot be reached. */
export function peopleOfNodes(events: EventStore, clickhouse: Clickhouse): SharedPeople {
  return {
    hasPeople: async (siteId) => (await events.hasPeople(siteId)) || withStoreFault(hasPeople(clickhouse, siteId)),
    async personOf(siteId, key) {
      const known = await events.personOf(siteId, key)
      if (known !== undefined) return known
      const [number] = await events.numbersOfPeople(siteId, [key])
      return (await withStoreFault(hasVisitor(clickhouse, siteId, number!))) ? number : undefined // a number for each key
    },
    async peopleOfUser(siteId, userId) {
      const [own, all] = [await events.peopleOfUser(siteId, userId), await withStoreFault(visitorsOfUser(clickhouse, siteId, userId))]
      return [...new Set([...own, ...all])]
    },
    async userIds(siteId, numbers) {
      const own = await events.userIds(siteId, numbers)
      const missing = numbers.filter((number) => !own.has(number))
      return new Map([...own, ...(await withStoreFault(userIdsOf(clickhouse, siteId, missing)))])
    },
    /** Those of lost nodes are only on ClickHouse. They are deleted at a later call when it cannot be reached. */
    async forgetUserIds(stores) {
      const forgotten = await events.forgetUserIds(stores)
      try {
        for (const siteId of await sitesWithUserIds(clickhouse)) if (!stores(siteId)) await deleteUserIds(clickhouse, siteId, "all")
      } catch (error) {
        if (!(error instanceof ClickhouseFault) || error.code !== undefined) throw error
      }
      return forgotten
    },
  }
}
