/* Answers the kernel's Data Center Bridging interface (RTM_GETDCB, RTM_SETDCB) in the kernel's place, so that lldpad
 * takes a virtual link, which has no such hardware, for a capable one. Loaded before the C library by LD_PRELOAD.
 *
 * What lldpad sends over netlink is looked at; requests of the two types get an answer that is kept until the next
 * receive on that socket. Everything else goes through. Settings of ETS and PFC are kept and given back. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define SOCKETS 1024
#define ROOM 1024

static struct { size_t length; unsigned char bytes[ROOM]; } answer[SOCKETS];
static struct ieee_ets ets = { .willing = 1, .ets_cap = 8 };
static struct ieee_pfc pfc = { .pfc_cap = 8 };

static size_t put(unsigned char *to, size_t at, uint16_t type, const void *data, size_t length)
{
	struct nlattr header = { .nla_len = (uint16_t)(NLA_HDRLEN + length), .nla_type = type };
	if (at + NLA_HDRLEN + NLA_ALIGN(length) > ROOM)
		return at;
	memcpy(to + at, &header, sizeof(header));
	memset(to + at + NLA_HDRLEN, 0, NLA_ALIGN(length));
	memcpy(to + at + NLA_HDRLEN, data, length);
	return at + NLA_HDRLEN + NLA_ALIGN(length);
}

/* The attribute of a type among some, or none. */
static const struct nlattr *find(const unsigned char *from, size_t length, uint16_t type)
{
	size_t at = 0;
	while (at + NLA_HDRLEN <= length) {
		const struct nlattr *it = (const struct nlattr *)(from + at);
		if (it->nla_len < NLA_HDRLEN || at + it->nla_len > length)
			return NULL;
		if ((it->nla_type & NLA_TYPE_MASK) == type)
			return it;
		at += NLA_ALIGN(it->nla_len);
	}
	return NULL;
}

static void take(const struct nlattr *outer, uint16_t type, void *to, size_t size)
{
	const unsigned char *inside = (const unsigned char *)outer + NLA_HDRLEN;
	const struct nlattr *it = outer ? find(inside, outer->nla_len - NLA_HDRLEN, type) : NULL;
	if (it && it->nla_len >= NLA_HDRLEN + size)
		memcpy(to, (const unsigned char *)it + NLA_HDRLEN, size);
}

/* Keeps an answer to a request; 0 if it is none of ours. */
static int handle(int fd, const unsigned char *bytes, size_t length)
{
	struct nlmsghdr head;
	struct dcbmsg request;
	unsigned char *out, inner[ROOM];
	const uint8_t zero = 0, one = 1, eight = 8;
	size_t at = NLMSG_HDRLEN + sizeof(request), in = 0;
	const struct nlattr *ieee;

	if (fd < 0 || fd >= SOCKETS || length < NLMSG_HDRLEN + sizeof(request))
		return 0;
	memcpy(&head, bytes, sizeof(head));
	if (head.nlmsg_type != RTM_GETDCB && head.nlmsg_type != RTM_SETDCB)
		return 0;
	memcpy(&request, bytes + NLMSG_HDRLEN, sizeof(request));
	ieee = find(bytes + at, length - at, DCB_ATTR_IEEE);
	out = answer[fd].bytes;
	switch (request.cmd) {
	case DCB_CMD_GCAP: {
		const uint8_t all = 0x80, dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE;
		uint16_t cap;
		for (cap = DCB_CAP_ATTR_PG; cap < DCB_CAP_ATTR_DCBX; cap++)
			in = put(inner, in, cap, cap == DCB_CAP_ATTR_PG_TCS || cap == DCB_CAP_ATTR_PFC_TCS ? &all : &one, 1);
		in = put(inner, in, DCB_CAP_ATTR_DCBX, &dcbx, 1);
		at = put(out, at, DCB_ATTR_CAP, inner, in);
		break;
	}
	case DCB_CMD_GNUMTCS:
		in = put(inner, in, DCB_NUMTCS_ATTR_PG, &eight, 1);
		in = put(inner, in, DCB_NUMTCS_ATTR_PFC, &eight, 1);
		at = put(out, at, DCB_ATTR_NUMTCS, inner, in);
		break;
	case DCB_CMD_GDCBX: {
		const uint8_t mode = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
		at = put(out, at, DCB_ATTR_DCBX, &mode, 1);
		break;
	}
	case DCB_CMD_SDCBX:
		at = put(out, at, DCB_ATTR_DCBX, &zero, 1);
		break;
	case DCB_CMD_GSTATE:
		at = put(out, at, DCB_ATTR_STATE, &one, 1);
		break;
	case DCB_CMD_SSTATE:
		at = put(out, at, DCB_ATTR_STATE, &zero, 1);
		break;
	case DCB_CMD_IEEE_GET:
		in = put(inner, in, DCB_ATTR_IEEE_ETS, &ets, sizeof(ets));
		in = put(inner, in, DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc));
		at = put(out, at, DCB_ATTR_IEEE, inner, in);
		break;
	case DCB_CMD_IEEE_SET:
		take(ieee, DCB_ATTR_IEEE_ETS, &ets, sizeof(ets));
		take(ieee, DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc));
		at = put(out, at, DCB_ATTR_IEEE, &zero, 1);
		break;
	case DCB_CMD_IEEE_DEL:
		at = put(out, at, DCB_ATTR_IEEE, &zero, 1);
		break;
	default:
		at = put(out, at, DCB_ATTR_STATE, &zero, 1);
		break;
	}
	head.nlmsg_len = (uint32_t)at;
	head.nlmsg_flags = 0;
	memcpy(out, &head, sizeof(head));
	memcpy(out + NLMSG_HDRLEN, &request, sizeof(request));
	answer[fd].length = at;
	return 1;
}

/* What waits for a socket, or 0. */
static size_t waiting(int fd)
{
	return fd >= 0 && fd < SOCKETS ? answer[fd].length : 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	unsigned char bytes[ROOM * 4];
	size_t length = 0, i;
	for (i = 0; i < msg->msg_iovlen; i++) {
		size_t part = msg->msg_iov[i].iov_len;
		if (length + part > sizeof(bytes))
			return REAL(sendmsg)(fd, msg, flags);
		memcpy(bytes + length, msg->msg_iov[i].iov_base, part);
		length += part;
	}
	return handle(fd, bytes, length) ? (ssize_t)length : REAL(sendmsg)(fd, msg, flags);
}

ssize_t sendto(int fd, const void *buffer, size_t length, int flags, const struct sockaddr *to, socklen_t size)
{
	return handle(fd, buffer, length) ? (ssize_t)length : REAL(sendto)(fd, buffer, length, flags, to, size);
}

ssize_t send(int fd, const void *buffer, size_t length, int flags)
{
	return handle(fd, buffer, length) ? (ssize_t)length : REAL(send)(fd, buffer, length, flags);
}

static ssize_t give(int fd, void *buffer, size_t room, int flags)
{
	size_t length = answer[fd].length, part = length < room ? length : room;
	memcpy(buffer, answer[fd].bytes, part);
	if (!(flags & MSG_PEEK))
		answer[fd].length = 0;
	return (ssize_t)(flags & MSG_TRUNC ? length : part);
}

ssize_t recv(int fd, void *buffer, size_t room, int flags)
{
	return waiting(fd) ? give(fd, buffer, room, flags) : REAL(recv)(fd, buffer, room, flags);
}

ssize_t recvfrom(int fd, void *buffer, size_t room, int flags, struct sockaddr *from, socklen_t *size)
{
	return waiting(fd) ? give(fd, buffer, room, flags) : REAL(recvfrom)(fd, buffer, room, flags, from, size);
}

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	size_t room = msg->msg_iovlen ? msg->msg_iov[0].iov_len : 0;
	if (!waiting(fd))
		return REAL(recvmsg)(fd, msg, flags);
	if (msg->msg_name && msg->msg_namelen >= sizeof(kernel)) {
		memcpy(msg->msg_name, &kernel, sizeof(kernel));
		msg->msg_namelen = sizeof(kernel);
	}
	msg->msg_controllen = 0;
	msg->msg_flags = room < waiting(fd) ? MSG_TRUNC : 0;
	return give(fd, room ? msg->msg_iov[0].iov_base : NULL, room, flags);
}
