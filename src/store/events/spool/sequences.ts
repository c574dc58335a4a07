/**
 * Sequences of several nodes. Each store counts its own events; outside of it, a sequence also has the number of the node that counted it.
 * Those of one node are in the same order, and below 2^53.
 */

/** Numbers of nodes are below it. */
const NODES = 256

/** Returns the sequence of an event of a node outside its store. Without a node there is only one store, and sequences are its own. */
export const sharedSequence = (sequence: number, node: number | undefined): number => (node ? sequence * NODES + node : sequence)

/** Returns the last sequence within the store of a node that is not after another one outside of it. */
export const lastOwnSequence = (shared: number, node: number | undefined): number => (node ? Math.floor((shared - node) / NODES) : shared)

/** Returns the sequence within the store of a node, or undefined for an event of another node. */
export function ownSequence(shared: number, node: number | undefined): number | undefined {
  if (!node) return shared
  return shared % NODES === node ? Math.floor(shared / NODES) : undefined
}
