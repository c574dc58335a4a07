import { patch, post, remove, sentenceOf, toast } from "#plugin/ui"
import { type PixelAnswer, pixelsPath, useRefresh } from "./answers.ts"

/** What is done to a pixel without a question: all of it can be taken back. */
export function usePixelActs(siteId: number) {
  const refresh = useRefresh(siteId)
  const fail = (error: Error) => toast(sentenceOf(error))
  const run = (act: Promise<unknown>, text: string, undo: () => Promise<unknown>): Promise<boolean> =>
    act.then(
      async () => {
        toast(text, () => void undo().then(refresh).catch(fail))
        await refresh()
        return true
      },
      (error) => {
        fail(error)
        return false
      },
    )
  const pathOf = ({ id }: PixelAnswer) => `${pixelsPath(siteId)}/${id}`
  return {
    archive: (pixel: PixelAnswer, archived: boolean) =>
      run(patch(pathOf(pixel), { archived }), archived ? `${pixel.name} archived` : `${pixel.name} counts again`, () =>
        patch(pathOf(pixel), { archived: !archived }),
      ),
    /** Resolves with whether it is gone. */
    forget: (pixel: PixelAnswer) => run(remove(pathOf(pixel)), `${pixel.name} deleted`, () => post(`${pathOf(pixel)}/restore`, undefined)),
  }
}
