/** A file that the operator keeps up to date, read again when it changes. */
export interface OperatorFile<Content> {
  /** Returns the content of the last readable version, or undefined before the first. */
  content(): Content | undefined
  /** Reads the file if its time stamp changed. When it cannot be read, the old content stays in use and the fault is returned. */
  refresh(): Promise<Error | undefined>
}

/** Opens a file, which is first read by `refresh`. When `parse` throws, the file counts as unreadable. */
export function openOperatorFile<Content>(path: string, parse: (bytes: ArrayBuffer) => Content): OperatorFile<Content> {
  let content: Content | undefined
  let readAt = Number.NaN
  return {
    content: () => content,
    async refresh() {
      try {
        const file = Bun.file(path)
        const { mtimeMs } = await file.stat()
        if (mtimeMs === readAt) return undefined
        content = parse(await file.arrayBuffer())
        readAt = mtimeMs
      } catch (error) {
        return error instanceof Error ? error : new Error(String(error))
      }
    },
  }
}

/** Wraps a refresh so that a persisting fault is reported once. */
export function reportOnce(refresh: () => Promise<string | undefined>, onFault: (message: string) => void): () => Promise<void> {
  let last: string | undefined
  return async () => {
    const fault = await refresh()
    if (fault !== undefined && fault !== last) onFault(fault)
    last = fault
  }
}
