/** Numbers kept for each group, for medians and percentiles: exact ones need every number. */
export interface GroupedValues {
  /** The first `count` of both arrays, which stay the caller's. */
  add(groups: Uint32Array, values: Uint32Array, count: number): void
  /** The numbers of each group, ascending, once all are there: those of group g are from `starts[g]` to before `starts[g + 1]`. */
  sorted(groupLimit: number): { starts: Uint32Array; values: Uint32Array }
}

export function groupedValues(): GroupedValues {
  const chunks: { groups: Uint32Array; values: Uint32Array }[] = []
  return {
    add(groups, values, count) {
      if (count > 0) chunks.push({ groups: groups.slice(0, count), values: values.slice(0, count) })
    },
    sorted(groupLimit) {
      const starts = new Uint32Array(groupLimit + 1)
      for (const { groups } of chunks) countNext(groups, starts)
      for (let group = 0; group < groupLimit; group++) starts[group + 1]! += starts[group]!
      const values = new Uint32Array(starts[groupLimit]!)
      const ends = starts.slice()
      for (const chunk of chunks) place(chunk, ends, values)
      for (let group = 0; group < groupLimit; group++) values.subarray(starts[group], starts[group + 1]).sort()
      return { starts, values }
    },
  }
}

function countNext(groups: Uint32Array, starts: Uint32Array): void {
  for (let i = 0; i < groups.length; i++) starts[groups[i]! + 1]!++
}

function place({ groups, values }: { groups: Uint32Array; values: Uint32Array }, ends: Uint32Array, out: Uint32Array): void {
  for (let i = 0; i < groups.length; i++) out[ends[groups[i]!]!++] = values[i]!
}
