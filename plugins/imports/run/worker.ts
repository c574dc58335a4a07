import { setPriority } from "node:os"
import { type PageTask, type StoredPage, storePage } from "./fetching/page.ts"
import { stage } from "./stage.ts"
import type { StageProgress, StageResult, StageTask } from "./task.ts"

/** Niceness of the thread: events and queries have priority. */
const NICENESS = 10

/** Entry of the worker: reads, enriches and sorts the files of one import or preview, or stores a page that was fetched. */
export default function work(
  task: StageTask | PageTask,
  post: (progress: StageProgress) => void,
): Promise<StageResult> | StoredPage | undefined {
  lowerPriority()
  return task.do === "page" ? storePage(task) : stage(task, post)
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
