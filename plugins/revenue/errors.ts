import { errorsOf, type PluginError } from "#plugin"

/** Error codes of revenue. */
export const ERRORS = {
  transaction_not_found: {
    status: 404,
    title: "The transaction was not found",
    meaning:
      "The site has no transaction with this ID. It may have been deleted, or removed by an erasure, by retention or with its import.",
  },
  duplicate_transaction: {
    status: 409,
    title: "The transaction already exists",
    meaning:
      "The site has a transaction with the same external ID, or a confirmed sale of the same order. `existing_id` is its ID and `existing` the transaction. An order counts once.",
  },
  not_manual: {
    status: 409,
    title: "The transaction was not added by hand",
    meaning: "Only transactions that a member added can be deleted. Add a refund to cancel an order.",
  },
  recompute_running: {
    status: 409,
    title: "The transactions are being recomputed",
    meaning: "A recomputation of this site is already running. The report shows what is done.",
  },
} as const satisfies Record<string, PluginError>

export const revenueError = errorsOf(ERRORS)
