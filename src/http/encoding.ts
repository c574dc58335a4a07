/** Returns the best encoding that the client accepts. `q=0` excludes an encoding. */
export function encodingOf(request: Request): "zstd" | "gzip" | undefined {
  const header = request.headers.get("accept-encoding") ?? ""
  const accepted = header.split(",").filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
  const has = (name: string) => accepted.some((part) => part.split(";")[0]!.trim().toLowerCase() === name)
  return has("zstd") ? "zstd" : has("gzip") ? "gzip" : undefined
}
