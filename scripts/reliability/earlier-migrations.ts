import { EVENT_SCHEMA } from "../../src/store/events/database.ts"

/** Tables without which the writer of this version cannot open a store, so that an earlier store can be made with it. */
const REQUIRED = ["0008_early_visits", "0012_month_sums"]

/** Returns the first migrations of the event store, and those that the writer requires. */
export const earlierMigrations = (count: number) =>
  EVENT_SCHEMA.migrations.filter(({ name }, index) => index < count || REQUIRED.includes(name))
