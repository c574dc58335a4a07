/** All bytes of a stream; undefined when there are more than `limit`. Then what follows the piece that went over it is not read. */
export async function readWithin(stream: ReadableStream<Uint8Array> | null, limit: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream ?? []) {
    size += chunk.byteLength
    if (size > limit) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
