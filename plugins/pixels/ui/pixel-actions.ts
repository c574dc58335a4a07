import { patch, post, remove, sentenceOf, toast } from "#plugin/ui"
import { type PixelAnswer, pixelsPath, useRefresh } from "./answers.ts"

/** Returns the actions on a pixel. They need no confirmation because each can be undone. */
export function usePixelActions(siteId: number) {
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
      run(patch(pathOf(pixel), { archived }), archived ? `${pixel.name} archived` : `${pixel.name} unarchived`, () =>
        patch(pathOf(pixel), { archived: !archived }),
      ),
    /** Resolves with whether the pixel was deleted. */
    forget: (pixel: PixelAnswer) => run(remove(pathOf(pixel)), `${pixel.name} deleted`, () => post(`${pathOf(pixel)}/restore`, undefined)),
  }
}
