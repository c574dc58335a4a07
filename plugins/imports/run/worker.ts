import { setPriority } from "node:os"
import { type BuiltBatch, buildBatch } from "#plugin/worker"
import { type PageTask, type StoredPage, storePage } from "./fetching/page.ts"
import { stage } from "./stage/stage.ts"
import type { BuildTask, StageProgress, StageResult, StageTask } from "./task.ts"

/** Niceness of the thread: events and queries have priority. */
const NICENESS = 10

/**
 * Entry of the worker: reads, enriches and sorts the files of one import or preview, builds segments of sorted visits, or stores a page that
 * was fetched.
 */
export default function work(
  task: StageTask | BuildTask | PageTask,
  post: (progress: StageProgress) => void,
): Promise<StageResult | BuiltBatch> | StoredPage | undefined {
  lowerPriority()
  switch (task.do) {
    case "page":
      return storePage(task)
    case "build":
      return built(task)
    default:
      return stage(task, post)
  }
}

/** Builds the segments of a batch. The engine itself would let the garbage of several batches pile up. */
async function built({ batch }: BuildTask): Promise<BuiltBatch> {
  const result = await buildBatch(batch)
  Bun.gc(true)
  return result
}

/** Lowers the priority of this thread. Linux only, because elsewhere it would apply to the whole process. */
function lowerPriority(): void {
  if (process.platform !== "linux") return
  try {
    setPriority(NICENESS)
  } catch {
    // Best effort: imports work without the lower priority.
  }
}
