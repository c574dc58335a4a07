/** A file that the operator keeps up to date, read again when it changes. */
export interface OperatorFile<Content> {
  /** Returns the content of the last readable version, or undefined before the first. */
  content(): Content | undefined
  /** Reads the file if its time stamp changed. One that cannot be read leaves the old content in use; the fault is returned. */
  refresh(): Promise<Error | undefined>
}

/** Nothing is read before the first `refresh`. Whatever `parse` throws makes the file one that cannot be read. */
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
export function tellingOnce(refresh: () => Promise<string | undefined>, onFault: (message: string) => void): () => Promise<void> {
  let last: string | undefined
  return async () => {
    const fault = await refresh()
    if (fault !== undefined && fault !== last) onFault(fault)
    last = fault
  }
}
