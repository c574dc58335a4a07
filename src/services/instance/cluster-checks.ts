/** What `doctor` checks when the events are on ClickHouse: the server, the nodes, and how requests reach them. */
import { spanText } from "../../domain/moment.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import type { Clickhouse } from "../../store/clickhouse/client.ts"
import { missingPrivileges, routingSince, unmergedParts } from "../../store/clickhouse/condition.ts"
import { describeNodes, type ListedNode } from "../runtime/nodes.ts"
import { type Finding, fail, ok, warn } from "./findings.ts"

interface ClusterOptions {
  catalog: Catalog
  clickhouse: Clickhouse
  now(): number
}

/** Parts in a month from which reports become noticeably slower, and from which the server delays inserts unless it is set up otherwise. */
const MANY_PARTS = 300
const TOO_MANY_PARTS = 1_000
/** Period whose visitors are compared, and the share with visits on two nodes from which the routing is wrong. */
const ROUTED_MS = 2 * 3_600_000
const MAX_SPLIT = 0.005
/** Time after which ClickHouse should have the events of a node. */
const LATE_MS = 60_000

export const CLUSTER_CHECKS: Readonly<Record<string, (options: ClusterOptions) => Promise<Finding>>> = {
  clickhouse_privileges: async ({ clickhouse }) => {
    const missing = await missingPrivileges(clickhouse)
    if (missing === undefined) return ok("This version of ClickHouse does not tell which privileges a user has.")
    return missing.length === 0
      ? ok("The user has all privileges that Footfall needs.")
      : fail(`The user lacks ${missing.join(", ")}.`, "Grant them on the database of FOOTFALL_CLICKHOUSE_DATABASE.")
  },
  clickhouse_parts: async ({ clickhouse }) => {
    const parts = await unmergedParts(clickhouse)
    const found = `The events of a month are in at most ${parts} ${parts === 1 ? "part" : "parts"}.`
    const remedy = "Look for merges that are stuck or slow in system.merges and system.part_log of ClickHouse, and for a full disk."
    if (parts >= TOO_MANY_PARTS) return fail(found, remedy)
    return parts >= MANY_PARTS ? warn(found, remedy) : ok(found)
  },
  nodes: async ({ catalog, now }) => {
    const nodes = (await describeNodes(catalog)).filter(({ state }) => state !== "forgotten")
    const problems = nodes.flatMap((node) => problemOf(node, now()) ?? [])
    const live = nodes.filter(({ state }) => state === "live")
    const versions = new Set(live.map(({ version }) => version))
    if (versions.size > 1)
      problems.push({ found: `The live nodes run the versions ${[...versions].join(", ")}.`, remedy: "Update all nodes." })
    if (problems.length === 0) return ok(`${live.length === 1 ? "One node is" : `${live.length} nodes are`} live.`)
    return warn(problems.map(({ found }) => found).join(" "), problems.map(({ remedy }) => remedy).join(" "))
  },
  routing: async ({ clickhouse, now }) => {
    const { visitors, split } = await routingSince(clickhouse, now() - ROUTED_MS)
    const found = `Of ${visitors} visitors of the last two hours, ${split} had visits on two nodes within 30 minutes.`
    return split > visitors * MAX_SPLIT
      ? warn(
          found,
          "Let the load balancer choose the node by the address of the client, of IPv6 by its first 64 bits. The README has examples. After a node was started or stopped, some visitors change nodes once.",
        )
      : ok(found)
  },
}

function problemOf({ number, process, state, late_since }: ListedNode, now: number): { found: string; remedy: string } | undefined {
  const node = `Node ${number} (${process})`
  if (state === "lost")
    return {
      found: `${node} does not respond, and may have events that ClickHouse lacks.`,
      remedy: `Start it again with its data folder. If the folder is lost, run footfall node forget ${number}.`,
    }
  const late = late_since === null ? 0 : now - Date.parse(late_since)
  if (late < LATE_MS) return undefined
  return {
    found: `${node} has had events that ClickHouse lacks for ${spanText(late)}.`,
    remedy: state === "stopped" ? `Start node ${number} again.` : `The log of node ${number} says why they are not sent.`,
  }
}
