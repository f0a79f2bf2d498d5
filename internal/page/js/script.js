// What javascript_exec evaluated to, as text of at most `limit` characters. Unlike the other files this is no part of the library: it runs
// in the page's own world, on the promise of the script's outcome, because only there are the values what they are to the script. The
// page may have bent every built-in, so the answer is as untrusted as the page; it is bounded here before it travels.
async function describeResult(limit) {
  'use strict';
  const seen = new Set();
  let left = limit;
  let cut = false;
  const out = [];

  function put(text) {
    cut ||= text.length > left;
    text = text.slice(0, left);
    left -= text.length;
    out.push(text);
  }

  function attempt(fn, otherwise) {
    try {
      return fn();
    } catch {
      return otherwise;
    }
  }

  const className = (value) => attempt(() => value.constructor.name, '') || Object.prototype.toString.call(value).slice(8, -1);

  function elementText(el) {
    const open = attempt(() => Element.prototype.cloneNode.call(el, false).outerHTML, '<' + el.localName + '>').replace(/<\/[^>]*>$/, '');
    const text = attempt(() => el.textContent.trim().replace(/\s+/g, ' '), '');
    return open.slice(0, 200) + (text ? text.slice(0, 60) + (text.length > 60 ? '…' : '') + '</' + el.localName + '>' : '');
  }

  function nodeText(node) {
    switch (node.nodeType) {
      case 1: return elementText(node);
      case 3: return 'text ' + JSON.stringify(node.data.slice(0, 200));
      case 9: return 'document ' + node.URL;
      default: return node.nodeName;
    }
  }

  function list(open, items, close, write) {
    put(open);
    let first = true;
    for (const item of items) {
      if (left <= 0) {
        cut = true;
        return;
      }
      if (!first) put(',');
      first = false;
      write(item);
    }
    put(close);
  }

  function* keysOf(value) {
    for (const key of Object.keys(value)) yield key;
  }

  function object(value, depth) {
    if (value === globalThis) return put('Window');
    if (typeof Node === 'function' && value instanceof Node) return put(nodeText(value));
    if (value instanceof Error) return put(errorText(value));
    if (value instanceof RegExp || (typeof Location === 'function' && value instanceof Location)) return put(String(value));
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) return put(className(value));
    if (value instanceof ArrayBuffer) return put('ArrayBuffer(' + value.byteLength + ')');
    if (value instanceof Date) return put(isNaN(value) ? 'Invalid Date' : depth ? JSON.stringify(value.toISOString()) : value.toISOString());
    if (seen.has(value)) return put('[circular]');
    if (depth > 8) return put('[' + className(value) + ']');
    seen.add(value);
    const inner = (item) => write(item, depth + 1);
    const pair = ([key, item]) => { inner(key); put('=>'); inner(item); };
    const field = (key) => { put(JSON.stringify(key) + ':'); inner(attempt(() => value[key], '[unreadable]')); };
    const json = attempt(() => typeof value.toJSON === 'function' ? value.toJSON() : value, value);
    if (json !== value) write(json, depth);
    else if (value instanceof Map) list('Map(' + value.size + '){', value, '}', pair);
    else if (value instanceof Set) list('Set(' + value.size + '){', value, '}', inner);
    else if (Array.isArray(value)) list('[', value, ']', inner);
    else if (ArrayBuffer.isView(value) || attempt(() => typeof value.length === 'number' && typeof value[Symbol.iterator] === 'function', false)) {
      list(className(value) + '(' + (value.length ?? value.byteLength) + ')[', Array.prototype.slice.call(value, 0, left), ']', inner);
    } else {
      const name = className(value);
      list((name === 'Object' ? '' : name) + '{', keysOf(value), '}', field);
    }
    seen.delete(value);
  }

  function write(value, depth) {
    switch (typeof value) {
      case 'string': return put(depth ? JSON.stringify(value.slice(0, left + 1)) : value);
      case 'bigint': return put(String(value) + 'n');
      case 'number': return put(Object.is(value, -0) ? '-0' : String(value));
      case 'function': return put(attempt(() => 'function ' + value.name, 'function'));
      case 'object': return value === null ? put('null') : object(value, depth);
      default: return put(String(value));
    }
  }

  function errorText(error) {
    return attempt(() => String(error), 'Error').slice(0, 1000);
  }

  // The script's line, as far as the stack names it.
  const lineOf = (error) => Number(attempt(() => /<anonymous>:(\d+):\d+/.exec(error.stack)[1], 0));

  function failure(error) {
    if (error instanceof Error) put(errorText(error));
    else write(error, 1);
    return { text: out.join(''), thrown: true, line: lineOf(error) };
  }

  try {
    const outcome = await this;
    if ('thrown' in outcome) return failure(outcome.thrown);
    write(outcome.completion, 0);
    return { text: out.join(''), cut };
  } catch (error) {
    out.length = 0;
    return failure(error);
  }
}
