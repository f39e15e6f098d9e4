import { kindOf, ownerWord } from '../lib/commands'
import { link } from '../lib/route'
import { inWords } from '../lib/words'
import { Text } from './basics'

/** Subject is a document that an event is about, with the way to its page if it has one. */
export function Subject({ path }: { path: string }) {
  const kind = kindOf(path)
  const [, provider = '', , name = ''] = path.split('/')
  if (kind === 'name') return <a href={link(['names', name])}>{name}</a>
  if (kind === 'cluster') return <a href={link(['fleet', provider, name])}>{`${provider}/${name}`}</a>
  return <Text>{ownerWord(path)}</Text>
}

/** Told is a sentence of the server, in which each cluster leads to its page, and buttons stand for flags. */
export function Told({ children }: { children: string }) {
  return (
    <>
      {inWords(children).split(/\b([a-z0-9][a-z0-9-]*\+[a-z0-9-]*[a-z0-9])\b/).map((part, i) =>
        i % 2 === 1 ? (
          <a key={i} href={link(['fleet', ...part.split('+')])}>
            {part.replace('+', '/')}
          </a>
        ) : (
          <Text key={i} most={2000}>
            {part}
          </Text>
        ),
      )}
    </>
  )
}

/** NamesTabs leads from the list of names to the latest changes, and back. */
export function NamesTabs({ here }: { here: 'names' | 'groups' | 'changes' }) {
  return (
    <nav class="tabs" aria-label="Names and changes">
      <a href={link(['names'])} aria-current={here === 'names' ? 'page' : undefined}>
        All names
      </a>
      <a href={link(['groups'])} aria-current={here === 'groups' ? 'page' : undefined}>
        Groups
      </a>
      <a href={link(['changes'])} aria-current={here === 'changes' ? 'page' : undefined}>
        Recent changes
      </a>
    </nav>
  )
}
